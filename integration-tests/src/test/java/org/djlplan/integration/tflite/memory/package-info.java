/**
 * How small planned models are: arenas that models share, searched plans, other operator orders.
 */
package org.djlplan.integration.tflite.memory;
