/**
 * Child processes that are asked for steps by lines of JSON, and answer by lines of JSON: what can
 * crash, hang or take memory does so there. Knows nothing of what is asked.
 */
package org.djlplan.memplan.child;
