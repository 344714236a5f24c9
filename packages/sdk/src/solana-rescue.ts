export { findSolanaOrders, type SolanaOrder } from "./rescue/find-solana-orders.ts";
export {
	planSolanaRefund,
	RefundRefused,
	type SolanaRefund,
	sendSolanaRefund,
} from "./rescue/solana-refund.ts";
