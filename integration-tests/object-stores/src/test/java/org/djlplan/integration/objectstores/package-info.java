/** One choice for a fleet, in an object store: code of docs/pipelines/object-stores.md. */
package org.djlplan.integration.objectstores;
