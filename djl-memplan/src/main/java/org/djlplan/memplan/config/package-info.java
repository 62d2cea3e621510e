/** The options of a model: keys, defaults, parsing, and who may set what. */
package org.djlplan.memplan.config;
