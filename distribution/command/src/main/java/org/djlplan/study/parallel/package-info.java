/**
 * Plans for engines that run independent branches at once, where tensors may share memory only if
 * the graph's data dependencies order them. djl-plan's engines do not need such plans: this package
 * shows their cost.
 */
package org.djlplan.study.parallel;
