/**
 * Greedy strategies that ask of every two units whether they are in conflict, instead of reading it
 * off intervals, and so also plan for engines that run independent branches at once.
 *
 * <p>Orders and one rule of placing are those of Apache TVM's unified static memory planner (<a
 * href="https://github.com/apache/tvm/blob/26fffb0fbfac1558bef905dee1817ba2e5eeabdf/src/tir/usmp/algo/greedy.cc">src/tir/usmp/algo/greedy.cc</a>).
 */
package org.djlplan.memplan.plan.conflict;
