import { hashTypedData } from "viem";
import { expect, test } from "vitest";
import { readVectors } from "../../vectors/read-vectors.ts";
import { orderDigest } from "../order.ts";
import { orderTypedDataToJson } from "./order-json.ts";

test.each(readVectors().orders)(
	"the typed data of an order has its digest, also after it was sent as JSON: $name",
	({ order }) => {
		const document = JSON.parse(JSON.stringify(orderTypedDataToJson(order)));
		expect(hashTypedData(document)).toBe(orderDigest(order));
	},
);

test("the typed data names the type of its domain, without which a wallet would hash an empty one", () => {
	const [vector] = readVectors().orders;
	if (!vector) throw new Error("there are vectors");
	const { domain, types } = orderTypedDataToJson(vector.order);
	expect(types.EIP712Domain?.map(({ name }) => name)).toEqual(Object.keys(domain));
});
