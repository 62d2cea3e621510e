/** Option keys, how they are parsed, and their defaults. */
package org.djlplan.memplan.config;
