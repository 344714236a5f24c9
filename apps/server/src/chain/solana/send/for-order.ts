import type { Order } from "@geoswap/protocol";

/** A signer that can pass on which order it signs for. A remote signer checks the order before it pays. */
type OrderAware<Signer> = Signer & { forOrder?: (order: Order) => Signer };

/** Returns the signer for one order, or the signer itself if it does not need to know the order. */
export function forOrder<Signer extends object>(signer: OrderAware<Signer>, order: Order): Signer {
	return signer.forOrder?.(order) ?? signer;
}
