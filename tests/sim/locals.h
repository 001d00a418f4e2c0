/* Included first where the reader is compiled for the simulation: its thread-local variables lie in a section, so that each simulated
 * thread has its own. */
#define _Thread_local __attribute__((section("simlocal")))
