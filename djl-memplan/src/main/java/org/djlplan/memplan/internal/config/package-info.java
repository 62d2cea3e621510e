/** The options of a model: keys, defaults, parsing, and who may set them. */
package org.djlplan.memplan.internal.config;
