/**
 * Planners for comparison only, which do not run in applications: strategies of other projects and
 * of other kinds, and files of usage records. Only the command line depends on this package.
 */
package org.djlplan.study;
