/**
 * Native memory: the library written in C, arenas shared by models, file mappings. Java decides; C
 * carries out and checks.
 */
package org.djlplan.memplan.internal.runtime;
