/**
 * Child processes that receive requests and send answers as lines of JSON, so that crashes, hangs
 * and memory use are confined to them. This package is independent of the content of requests.
 */
package org.djlplan.memplan.internal.child;
