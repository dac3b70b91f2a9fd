package io.quartermaster.engine;

import io.quartermaster.engine.quota.QuotaNode;

/** The fair share of a node is not what it was. */
record FairShareMoved(QuotaNode node) implements Touches.Touch {}
