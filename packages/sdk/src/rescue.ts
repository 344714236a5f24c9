export { type Credit, findCredits } from "./rescue/find-credits.ts";
export { findOrders, type OpenedOrder } from "./rescue/find-orders.ts";
export { locateOrder, type Whereabouts } from "./rescue/locate-order.ts";
export { readMandateEpoch, revokeMandates } from "./rescue/mandates.ts";
export { claimCall, type RescueCall, refundCall } from "./rescue/rescue-call.ts";
export { sendRescueCall } from "./rescue/send-rescue-call.ts";
export { readDelegate, undelegate } from "./rescue/undelegate.ts";
