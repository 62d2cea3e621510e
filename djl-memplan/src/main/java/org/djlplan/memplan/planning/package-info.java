/**
 * The plans of PyTorch models. {@link org.djlplan.memplan.planning.AllocationPlanning} knows what
 * the plan of a model's allocations depends on and where it is stored, and answers what the runtime
 * asks: a stored plan is used if it still fits, else the strategies make one at once.
 */
package org.djlplan.memplan.planning;
