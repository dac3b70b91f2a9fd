/** Tests that compare the documents with the program: commands, links, tables. */
@NullMarked
package io.quartermaster.documents;

import org.jspecify.annotations.NullMarked;
