/**
 * djl-plan with the real engines, sorted by engine and then by what is promised: answers, memory,
 * lifecycle, options. {@code support} holds what these tests share.
 */
package org.djlplan.integration;
