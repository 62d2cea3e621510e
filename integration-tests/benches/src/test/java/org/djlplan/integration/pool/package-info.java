/** Many threads that predict at once: their answers, their memory, their time. */
package org.djlplan.integration.pool;
