/**
 * Tests that need current DJL, which has no TFLite engine. Tests of the {@code torch} packages run
 * on both versions. The class path is that of Surefire's second execution.
 */
package org.djlplan.integration.current;
