// Written by benanza_generate, which replaces this folder as a whole.
#include <benanza/bench/run.hpp>
int main(int argc, char** argv) { return benanza::bench::run(argc, argv); }
