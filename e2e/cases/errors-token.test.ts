import { test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { sharedEnvironment } from "../shared-environment.ts";

test("a token must be a non-empty string [I4-6, I4-16, I4-17, I8-3, D-order-5]", async ({ expect }) => {
	const client = await sharedEnvironment().newClient();
	for (const [path, field] of [
		["/swap/build-geo-op", "geoQuoteToken"],
		["/swap/submit", "geoOpToken"],
	] as const) {
		for (const wrong of [undefined, null, "", 1, {}, ["x"]]) {
			const answer = await callApi(client, path, { body: { [field]: wrong, signature: "x" } });
			expect([answer.status, answer.body?.code]).toEqual([400, "INVALID_REQUEST"]);
			expect(answer.body?.details).toMatchObject({ issues: [{ path: field }] });
		}
	}
	const unsigned = await callApi(client, "/swap/submit", { body: { geoOpToken: "x", signature: null } });
	expect(unsigned.body).toMatchObject({
		code: "INVALID_REQUEST",
		details: { issues: [{ path: "signature" }] },
	});
});
