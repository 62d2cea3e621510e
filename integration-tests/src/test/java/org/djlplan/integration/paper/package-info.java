/**
 * The six networks on which Pisarchyk and Lee 2020 (<a
 * href="https://arxiv.org/abs/2001.03288">Efficient Memory Management for Deep Neural Net
 * Inference</a>) compare strategies, as graphs without weights, and the table of every strategy on
 * each of them.
 */
package org.djlplan.integration.paper;
