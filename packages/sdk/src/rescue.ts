export { type Credit, findCredits } from "./rescue/find-credits.ts";
export { findOrders, type OpenedOrder } from "./rescue/find-orders.ts";
export { lookAtOrder, type Whereabouts } from "./rescue/look-at-order.ts";
export { readMandateEpoch, revokeMandates } from "./rescue/mandates.ts";
export { claimCall, type RescueCall, refundCall } from "./rescue/rescue-call.ts";
export { sendRescueCall } from "./rescue/send-rescue-call.ts";
export { readDelegate, undelegate } from "./rescue/undelegate.ts";
