// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/shared_store.hpp>
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace benanza;
using namespace benanza::machine;

namespace {
/// A store of this test's own, gone with it.
struct own_store {
  own_store()
      : name("benanza-test-" + std::to_string(getpid()))
      , store(name) {}
  ~own_store() { std::filesystem::remove_all(store.folder()); }
  std::string name;
  shared_store store;
};

std::vector<std::byte> values(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(bytes);
  for (std::byte& b : out)
    b = static_cast<std::byte>(random());
  return out;
}

shared_object put(const shared_store& s, const std::string& key,
                  const std::vector<std::byte>& what) {
  return s.open(key, std::ssize(what),
                [&](std::span<std::byte> to) { std::copy(what.begin(), what.end(), to.begin()); });
}

int users(const shared_store& s, const std::string& key) {
  for (const stored_object& o : s.list())
    if (o.key == key) return o.users;
  return -1;
}

/// A process of its own that does that and ends; what it returns is its exit status.
template <class Work>
pid_t process(const Work& work) {
  const pid_t it = fork();
  if (it == 0) {
    signal(SIGSEGV, SIG_DFL); // that the test program says nothing
    int status = 99;
    try {
      status = work();
    } catch (...) {
    }
    _exit(status);
  }
  return it;
}
int status_of(pid_t it) {
  int status = 0;
  waitpid(it, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
} // namespace

TEST_CASE("other processes see the same bits, and cannot write them") {
  const own_store s;
  const auto what = values(1'000'003, 1);
  const shared_object mine = put(s.store, "weights", what);
  CHECK(std::equal(what.begin(), what.end(), mine.bytes().begin(), mine.bytes().end()));
  CHECK(mine.intact());
  CHECK(status_of(process([&] {
          bool filled = false;
          const shared_object o =
              shared_store(s.name).open("weights", 1, [&](auto) { filled = true; });
          o.populate();
          return filled ||
                 !std::equal(what.begin(), what.end(), o.bytes().begin(), o.bytes().end());
        })) == 0);
  CHECK(status_of(process([&] {
          const auto o = s.store.attach("weights");
          *const_cast<std::byte*>(o->bytes().data()) = std::byte{1};
          return 0;
        })) == -SIGSEGV);
  CHECK_FALSE(s.store.attach("other weights"));
}

TEST_CASE("of many who come at once one fills, and all have the same") {
  const own_store s;
  const auto what = values(200'000, 2);
  std::vector<pid_t> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(process([&] {
      bool filled = false;
      const shared_object o = s.store.open("w", std::ssize(what), [&](std::span<std::byte> to) {
        filled = true;
        usleep(20'000);
        std::copy(what.begin(), what.end(), to.begin());
      });
      return o.intact() ? (filled ? 1 : 0) : 2;
    }));
  int fillers = 0;
  for (const pid_t p : all) {
    const int status = status_of(p);
    CHECK(status <= 1);
    fillers += status;
  }
  CHECK(fillers == 1);
}

TEST_CASE("counts are right after clients were killed at any moment") {
  const own_store s;
  const auto what = values(300'000, 3);
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    const std::string key = "w" + std::to_string(round % 3);
    const pid_t client = process([&] {
      for (;;) {
        const shared_object one = put(s.store, key, what);
        const auto another = s.store.attach(key);
        if (!one.intact()) return 1;
        if (random() % 4 == 0) s.store.evict(key);
      }
    });
    usleep(static_cast<useconds_t>(random() % 3000));
    kill(client, SIGKILL);
    REQUIRE(status_of(client) == -SIGKILL); // and so none had seen anything else
    for (const stored_object& o : s.store.list()) {
      REQUIRE(o.users == 0);
      const auto left = s.store.attach(o.key);
      REQUIRE(left);
      REQUIRE(left->intact());
      REQUIRE(users(s.store, o.key) == 1);
    }
  }
  CHECK(put(s.store, "w0", what).intact()); // and the store goes on
}

TEST_CASE("who uses an object counts, in whichever process") {
  const own_store s;
  const auto what = values(1000, 5);
  auto one = std::make_unique<shared_object>(put(s.store, "w", what));
  const auto two = s.store.attach("w");
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t other = process([&] {
    const auto three = shared_store(s.name).attach("w");
    const char done = 1;
    if (write(ready[1], &done, 1) != 1) return 1;
    pause();
    return 0;
  });
  char done = 0;
  REQUIRE(read(ready[0], &done, 1) == 1);
  CHECK(users(s.store, "w") == 3);
  CHECK_FALSE(s.store.evict("w"));
  one.reset(); // the other process was forked with it, and has it still
  CHECK(users(s.store, "w") == 3);
  kill(other, SIGKILL);
  status_of(other);
  CHECK(users(s.store, "w") == 1);
  CHECK_FALSE(s.store.evict("w"));
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("what somebody else put in the place of a store is never read nor written") {
  namespace files = std::filesystem;
  const std::string name = "benanza-test-planted-" + std::to_string(getpid());
  const std::string place = "/dev/shm/" + name + '-' + std::to_string(geteuid());
  const std::string elsewhere = "/dev/shm/" + name + "-victim";
  for (const char* what : {"link", "open to all", "file", "another user's"}) {
    CAPTURE(what);
    const std::string kind = what;
    files::create_directory(elsewhere);
    if (kind == "link")
      files::create_directory_symlink(elsewhere, place);
    else if (kind == "file")
      REQUIRE(close(::open(place.c_str(), O_CREAT | O_WRONLY, 0600)) == 0);
    else
      files::create_directory(place);
    if (kind == "open to all") files::permissions(place, files::perms(0777));
    if (kind == "another user's" && geteuid() == 0)
      REQUIRE(chown(place.c_str(), 65534, 65534) == 0);
    {
      const shared_store s(name);
      CHECK(put(s, "weights", values(100, 1)).intact());
      if (kind != "another user's" || geteuid() == 0) CHECK(s.folder() != place + '/');
      struct stat made {};
      REQUIRE(lstat(s.folder().substr(0, s.folder().size() - 1).c_str(), &made) == 0);
      CHECK((made.st_mode & 0777) == 0700);
      CHECK(shared_store(name).attach("weights").has_value()); // found again
      files::remove_all(s.folder());
    }
    CHECK(files::is_empty(elsewhere));
    files::remove_all(place);
    files::remove_all(elsewhere);
  }
}

TEST_CASE("what cannot be made leaves nothing behind") {
  const own_store s;
  CHECK_THROWS_WITH_AS(s.store.open("large", std::int64_t{1} << 50, [](auto) {}),
                       doctest::Contains("no room"), error);
  CHECK_THROWS_AS(s.store.open("w", 100, [](auto) { throw error("no weights"); }), error);
  CHECK(s.store.list().empty());
  CHECK_THROWS_AS(shared_store("a/b"), error);
  CHECK_THROWS_AS(s.store.attach(""), error);
  // An object that is under way when its maker is killed is swept up by the next maker.
  const pid_t maker = process([&] {
    const auto o = s.store.open("w", 100, [](auto) { raise(SIGKILL); });
    return 0;
  });
  CHECK(status_of(maker) == -SIGKILL);
  CHECK(s.store.list().empty());
  CHECK(put(s.store, "v", values(100, 8)).intact());
}
