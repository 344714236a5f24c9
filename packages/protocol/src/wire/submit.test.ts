import { expect, test } from "vitest";
import { submitRequestSchema } from "./submit.ts";

const body = { geoOpToken: "a.b", signature: "0x12" };

test.each([undefined, null, "typed", "personal"])("the kind of a signature may be %s", (signatureKind) => {
	expect(submitRequestSchema.parse({ ...body, signatureKind })).toEqual({
		...body,
		signatureKind: signatureKind ?? undefined,
	});
});

test.each(["", "eip712", "TYPED", 0, true])("the kind of a signature is never %j", (signatureKind) => {
	const { error } = submitRequestSchema.safeParse({ ...body, signatureKind });
	expect(error?.issues.map(({ path }) => path)).toEqual([["signatureKind"]]);
});
