/** Strategies that are studied and compared, and the registry of all strategies by name. */
package org.djlplan.study;
