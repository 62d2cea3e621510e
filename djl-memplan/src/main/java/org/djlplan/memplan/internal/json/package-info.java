/** Maps records to JSON and back, for stored files, messages between processes, and users. */
package org.djlplan.memplan.internal.json;
