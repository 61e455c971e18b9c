// Written by benanza_generate, which replaces this folder as a whole.
#include <benanza/measure/run.hpp>
int main(int argc, char** argv) { return benanza::measure::run(argc, argv); }
