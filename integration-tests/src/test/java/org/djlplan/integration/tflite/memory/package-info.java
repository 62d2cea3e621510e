/**
 * Tests of the memory of planned models: shared arenas, sizes of plans, and pages of model files.
 */
package org.djlplan.integration.tflite.memory;
