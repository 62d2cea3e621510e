/**
 * Runs djl-plan on a current DJL, without a TFLite engine. These tests have a class path of their
 * own: see the second execution of Surefire.
 */
package org.djlplan.integration.current;
