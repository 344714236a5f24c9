import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { joinParts } from "./database.ts";
import { namedParameters } from "./named-parameters.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("each name stands for its own value, regardless of where and how often the text uses it", async () => {
	const { rows } = await database.pool.query(
		namedParameters("select $last::text || $first::text || $last as joined, $firstPart::text as part", {
			first: "1",
			firstPart: "2",
			last: "3",
		}),
	);
	expect(rows).toEqual([{ joined: "313", part: "2" }]);
});

test("a text has the same numbers in every call, even if a later call lists its values in another order", () => {
	const text = "select $b::text, $a::int";
	expect(namedParameters(text, { a: 1, b: "x" })).toEqual({
		text: "select $2::text, $1::int",
		values: [1, "x"],
	});
	expect(namedParameters(text, { b: "y", a: 2 })).toEqual({
		text: "select $2::text, $1::int",
		values: [2, "y"],
	});
});

test("a name without a value throws, also if the text is known", () => {
	const text = "select $given::int, $forgotten::int";
	expect(() => namedParameters(text, { given: 1 })).toThrow("$forgotten has no value");
	expect(namedParameters(text, { given: 1, forgotten: undefined }).values).toEqual([1, undefined]);
	expect(() => namedParameters(text, { given: 1 })).toThrow("$forgotten has no value");
	expect(() => namedParameters("select $toString", {})).toThrow("$toString has no value");
});

test("a value that the text does not use throws, also if the text is known", () => {
	const text = "select $chainId::int";
	expect(() => namedParameters(text, { chainId: 1, chain: 2 })).toThrow("does not use $chain:");
	expect(namedParameters(text, { chainId: 1 }).values).toEqual([1]);
	expect(() => namedParameters(text, { chainId: 1, chain: 2 })).toThrow("does not use $chain:");
});

test("numbered and named parameters are never mixed, because both would be the same ones", () => {
	expect(() => namedParameters("select $1::int, $chainId::int", { chainId: 1 })).toThrow("without a name");
});

test("the path of a JSON value is no parameter", () => {
	const text = `select '{"a": 1}'::jsonb @? '$.a' and $isTrue`;
	expect(namedParameters(text, { isTrue: true }).text).toBe(`select '{"a": 1}'::jsonb @? '$.a' and $1`);
});

test("parts with named parameters are joined to one statement", async () => {
	const { texts, values } = joinParts([
		namedParameters("select $one::int as one", { one: 1 }),
		namedParameters("select $three::int as three, $two::int as two", { two: 2, three: 3 }),
	]);
	const { rows } = await database.pool.query(`select * from (${texts[0]}) a, (${texts[1]}) b`, values);
	expect(rows).toEqual([{ one: 1, two: 2, three: 3 }]);
});
