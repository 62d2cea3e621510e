/** What an engine's allocator was seen to do during a prediction, as usage records. */
package org.djlplan.memplan.source.trace;
