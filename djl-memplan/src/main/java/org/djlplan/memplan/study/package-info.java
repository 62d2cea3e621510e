/**
 * Planners for comparison only, which do not run in an application: strategies of other planners
 * and of other kinds, and files of usage records. Nothing but the command line depends on it.
 */
package org.djlplan.memplan.study;
