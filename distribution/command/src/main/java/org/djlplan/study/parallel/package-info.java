/**
 * Plans for engines that run independent branches at once, where tensors may share memory only if
 * the graph's data dependencies order them. djl-plan's engines do not need them: this package shows
 * the cost of such plans.
 */
package org.djlplan.study.parallel;
