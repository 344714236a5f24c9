export { getReceipt } from "./get-receipt.ts";
export { ReceiptError } from "./receipt-error.ts";
export { RpcError } from "./rpc-error.ts";
export type { ShownFact } from "./shown-fact.ts";
export { type VerifiedReceipt, verifyReceipt } from "./verify-receipt.ts";
