"""Hands a question to Spark: the text and the files that wakepath-fleet names, and nothing else."""

import json
import struct
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

KINDS = {"integer": T.LongType(), "text": T.StringType(), "flag": T.BooleanType()}
ANSWERS = [
    ((T.ByteType, T.ShortType, T.IntegerType, T.LongType), "integer"),
    ((T.FloatType, T.DoubleType), "real"),
    ((T.StringType,), "text"),
    ((T.BooleanType,), "flag"),
    ((T.NullType,), "null"),
]


def view(spark, table):
    """Makes a table of the files that it is told, with the columns that it is told."""
    columns = [(name, kind) for name, kind in table["columns"]]
    files = table["files"]
    by_file = [(f["path"].rsplit("/", 1)[-1], f["run"]) for f in files if f["run"] is not None]
    schema = T.StructType([T.StructField(name, KINDS[kind]) for name, kind in columns])
    paths = ["file://" + f["path"] for f in files]
    if not paths:
        frame = spark.createDataFrame([], schema)
    elif by_file:
        # The run is said by no file of samples: it goes with the file's name, which is its digest.
        read = T.StructType([field for field in schema if field.name != "run"])
        runs = T.StructType([T.StructField("file", T.StringType()), T.StructField("run", T.LongType())])
        known = F.broadcast(spark.createDataFrame(by_file, runs))
        samples = spark.read.schema(read).parquet(*paths)
        samples = samples.withColumn("file", F.col("_metadata.file_name"))
        frame = samples.join(known, "file").drop("file")
    else:
        frame = spark.read.schema(schema).parquet(*paths)
    frame.createOrReplaceTempView(table["name"])


def kind_of(column):
    for types, kind in ANSWERS:
        if isinstance(column.dataType, types):
            return kind
    return column.dataType.simpleString()


def cell(value, kind):
    if value is not None and kind == "real":
        return struct.pack(">d", value).hex()
    return value


def main(plan, answer):
    with open(plan, encoding="utf-8") as file:
        plan = json.load(file)
    # An overflow is an error, a division by zero too.
    spark = SparkSession.builder.config("spark.sql.ansi.enabled", "true").getOrCreate()
    for table in plan["tables"]:
        view(spark, table)
    for name, text in plan["views"]:
        spark.sql(text).createOrReplaceTempView(name)
    frame = spark.sql(plan["text"])
    kinds = [kind_of(column) for column in frame.schema]
    rows = frame.collect()
    with open(answer, "w", encoding="utf-8") as file:
        columns = [[column.name, kind] for column, kind in zip(frame.schema, kinds)]
        print(json.dumps({"columns": columns}), file=file)
        for row in rows:
            print(json.dumps([cell(v, k) for v, k in zip(row, kinds)]), file=file)
    spark.stop()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # Whatever it was: one line, and no answer.
        print("wakepath: " + " ".join(str(error).split())[:2000], file=sys.stderr)
        sys.exit(1)
