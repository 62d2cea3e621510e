/** Events for JDK Flight Recorder: predictions, waits, and what is delegated. */
package org.djlplan.memplan.events;
