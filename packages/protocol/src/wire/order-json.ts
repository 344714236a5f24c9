import { type Order, orderTypedData } from "../order.ts";
import { typedDataToJson } from "./typed-data-json.ts";

export type OrderJson = { [Field in keyof Order]: string };

export function orderToJson(order: Order): OrderJson {
	return textsOf(order) as OrderJson;
}

/** Returns the order's typed data as JSON, complete for `eth_signTypedData_v4`. Numbers are decimal strings. */
export function orderTypedDataToJson(order: Order) {
	const typedData = orderTypedData(order);
	return { ...typedDataToJson(typedData), message: textsOf(typedData.message) };
}

function textsOf(fields: Record<string, bigint | string>): Record<string, string> {
	return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, String(value)]));
}
