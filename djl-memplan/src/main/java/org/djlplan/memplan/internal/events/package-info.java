/** Events for JDK Flight Recorder: predictions, waits, and delegation. */
package org.djlplan.memplan.internal.events;
