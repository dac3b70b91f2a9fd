package io.quartermaster.engine.state;

import io.quartermaster.engine.quota.QuotaNode;

/** The fair share of a node is not what it was. */
public record FairShareChanged(QuotaNode node) implements ChangeLog.StateChange {}
