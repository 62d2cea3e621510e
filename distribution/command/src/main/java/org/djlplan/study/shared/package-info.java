/**
 * Shared objects: strategies that assign every unit of a planning problem one of several buffers,
 * each of which holds one unit at a time, and the search for the smallest such plan.
 *
 * <p>Terms and most strategies: Pisarchyk and Lee 2020, <a
 * href="https://arxiv.org/abs/2001.03288">Efficient Memory Management for Deep Neural Net
 * Inference</a>, section 4; the others: Lee et al. 2019, <a
 * href="https://arxiv.org/abs/1907.01989">On-Device Neural Net Inference with Mobile GPUs</a>.
 */
package org.djlplan.study.shared;
