package io.quartermaster.engine.state;

import io.quartermaster.engine.quota.QuotaNode;

/** The change of a node's fair share. */
public record FairShareChange(QuotaNode node) implements ChangeLog.StateChange {}
