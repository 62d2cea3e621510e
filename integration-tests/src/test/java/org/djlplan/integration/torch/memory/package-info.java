/**
 * Tests of the memory of planned models: its size, the memory that outputs keep, and predictions
 * that deviate from the plan.
 */
package org.djlplan.integration.torch.memory;
