/**
 * Plans for engines that run independent branches at once, where tensors may share memory only if
 * the graph's data dependencies order them. No engine of ours does: this package tells what such
 * plans would cost.
 */
package org.djlplan.memplan.study.parallel;
