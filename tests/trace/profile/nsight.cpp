// SPDX-License-Identifier: Apache-2.0
// SQLite exports of Nsight Systems.
#include "profile_samples.hpp"

#include <doctest/doctest.h>

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/database.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace profile_text;

namespace {
/// An export that these statements make, as long as it lives.
struct sqlite_export {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("benanza_nsight_" + std::to_string(getpid()));
  explicit sqlite_export(const std::string& sql) {
    std::filesystem::remove(path);
    benanza::result::store::database(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path, 1000)
        .run(sql.c_str());
  }
  sqlite_export(const sqlite_export&) = delete;
  sqlite_export& operator=(const sqlite_export&) = delete;
  ~sqlite_export() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  profile read() const { return benanza::trace::read_profile_file(path); }
};

const std::string kernels =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'softmax'),(3,'conv1');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, "
    "globalPid, shortName);"
    // Two runs of gemm, gemm, softmax by process 5; number 7 is of process 6, too.
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
    "(1000,1500,0,7,7,83886080,1),(1600,1700,0,7,8,83886080,1),"
    "(1800,1810,0,7,9,83886080,2),(3000,3400,0,7,17,83886080,1),(3600,3650,0,7,18,83886080,1),"
    "(3800,3812,0,7,19,83886080,2);";

const std::string ranges =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100,110,83886085,7,0),(120,130,83886085,8,0),"
    "(150,160,83886085,9,0),(500,510,83886085,17,0),(520,530,83886085,18,0),(550,560,83886085,19,0)"
    ","
    "(555,556,100663301,7,0);"
    "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid);"
    "INSERT INTO NVTX_EVENTS VALUES (90,200,59,'model',NULL,83886085),(95,140,59,NULL,3,83886085),"
    "(490,600,60,'model',NULL,83886085),(495,540,59,'conv1',NULL,83886085),"
    "(98,140,59,'of another thread',NULL,83886086),(99,140,34,'a mark',NULL,83886085),"
    "(99,NULL,75,'a domain',NULL,83886085);";
} // namespace

TEST_CASE("nsight export: kernels belong to the innermost range of their launch") {
  const sqlite_export file(kernels + ranges);
  const profile p = file.read();
  CHECK(p.device == "gpu");
  CHECK(names(p) == std::vector<std::string>{"conv1", "model"});
  CHECK(of_name(p, "conv1").ns == std::vector<double>{450}); // of the second run
  CHECK(of_name(p, "conv1").kernel == "gemm + gemm");
  CHECK(of_name(p, "model").ns == std::vector<double>{12});
  CHECK(p.overlapping == false);
  CHECK(p.warnings.empty());
}

TEST_CASE("nsight export: without ranges the kernels are known by their names") {
  const sqlite_export file(kernels);
  const profile p = file.read();
  CHECK(names(p) == std::vector<std::string>{"gemm", "gemm", "softmax"});
  CHECK(p.operators[1].ns == std::vector<double>{50});
  CHECK(warns(p, "0 of 6 kernels"));
}

TEST_CASE("nsight export: columns and tables that are not there") {
  const sqlite_export old("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end);"
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,5),(2,1)");
  CHECK(old.read().operators.at(0).ns == std::vector<double>{4});
  const sqlite_export streams("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, streamId);"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,5,1),(4,9,2)");
  CHECK(streams.read().overlapping == true);
  const sqlite_export graphs("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end)");
  CHECK_THROWS_WITH_AS(graphs.read(), doctest::Contains("--cuda-graph-trace node"), benanza::error);
  const sqlite_export view(
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start, end) AS "
      "(SELECT 1, 2 UNION ALL SELECT start, end FROM n) SELECT * FROM n");
  CHECK_THROWS_WITH_AS(view.read(), doctest::Contains("no kernel"), benanza::error);
  const sqlite_export other("CREATE TABLE t (a)");
  CHECK_THROWS_WITH_AS(other.read(), doctest::Contains("no kernel"), benanza::error);
}

TEST_CASE("nsight export: one that is cut off or damaged is refused in a line") {
  const sqlite_export file(kernels + ranges);
  std::ifstream in(file.path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t i = 16; i < whole.size(); i += 257) {
    std::string text = whole.substr(0, i % 2 == 0 ? i : whole.size());
    if (i % 2 != 0) text[i] = static_cast<char>(text[i] ^ 0x41);
    std::ofstream(file.path, std::ios::binary) << text;
    try {
      file.read();
    } catch (const benanza::error& e) {
      CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
      CHECK(std::string_view(e.what()).find("the store") == std::string_view::npos);
    }
  }
  CHECK(refusal(whole).find("give its name") != std::string::npos);
}
#endif
