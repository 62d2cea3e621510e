/**
 * Plans of PyTorch models. {@link org.djlplan.memplan.internal.planning.AllocationPlanning} defines
 * the key and the place of a stored plan, and answers the runtime's requests: a stored plan is used
 * if it still fits, otherwise the strategies make one at once.
 */
package org.djlplan.memplan.internal.planning;
