/** The options of a model: keys, defaults, parsing, and the parties that may set each option. */
package org.djlplan.memplan.internal.config;
