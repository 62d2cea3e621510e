/** Maps records to JSON and back, for stored files and for messages between processes. */
package org.djlplan.memplan.internal.json;
