/**
 * Search for an execution order of a graph's operators with a smaller maximum breadth.
 *
 * <p>Sources: Ahn et al. 2020, <a href="https://arxiv.org/abs/2003.02369">Ordering Chaos:
 * Memory-Aware Scheduling of Irregularly Wired Neural Networks for Edge Devices</a> (SERENITY),
 * section 3.1 for the dynamic programming over sets of executed operators and section 3.2 for
 * dividing the graph at its cuts.
 */
package org.djlplan.memplan.order;
