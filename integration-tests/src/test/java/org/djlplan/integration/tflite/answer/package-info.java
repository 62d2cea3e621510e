/**
 * Planned models give the stock engine's bytes: networks, odd models, bad files, any shape and
 * type.
 */
package org.djlplan.integration.tflite.answer;
