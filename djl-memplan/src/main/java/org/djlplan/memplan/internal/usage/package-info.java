/**
 * Tensor usage records and the data derived from them: operator profiles, breadths, positional
 * maxima, lower bounds, alias classes, and the planning problem that every strategy gets.
 *
 * <p>Terms and formulas: Pisarchyk and Lee 2020, <a
 * href="https://arxiv.org/abs/2001.03288">Efficient Memory Management for Deep Neural Net
 * Inference</a>, section 3.
 */
package org.djlplan.memplan.internal.usage;
