import type { Order } from "../order.ts";

export type OrderJson = { [Field in keyof Order]: string };

export function orderToJson(order: Order): OrderJson {
	return Object.fromEntries(
		Object.entries(order).map(([field, value]) => [field, String(value)]),
	) as OrderJson;
}
