#include "reader/console/json_writer.h"
#include "tools/bench/read_report.h"

namespace shardmill {
namespace {

void WriteRate(const ReadFigures& figures, const Rate& rate, JsonWriter* json) {
  json->BeginObject();
  json->Key("samples_per_second").Number(rate.per_second());
  json->Key("bytes_per_second").Number(figures.BytesPerSecond(rate));
  json->Key("cpu_seconds_per_1000").Number(rate.cpu_seconds_per_1000());
  json->EndObject();
}

void WriteSpread(const Spread& spread, JsonWriter* json) {
  json->BeginObject();
  json->Key("median").Number(spread.median);
  json->Key("low").Number(spread.low);
  json->Key("high").Number(spread.high);
  json->EndObject();
}

void WriteTimes(const LoaderTimes& times, JsonWriter* json) {
  json->BeginObject();
  json->Key("disk").Number(times.disk_ns);
  json->Key("copy").Number(times.copy_ns);
  json->Key("checksum").Number(times.checksum_ns);
  json->Key("decode").Number(times.decode_ns);
  json->Key("expand").Number(times.expand_ns);
  json->Key("wait_for_slot").Number(times.wait_for_slot_ns);
  json->Key("plan").Number(times.plan_ns);
  json->Key("consumer_wait").Number(times.consumer_wait_ns);
  json->EndObject();
}

void WriteLoader(const ReadFigures& figures, const LoaderFigures& loader, JsonWriter* json) {
  json->BeginObject();
  json->Key("first_epoch");
  WriteRate(figures, loader.first_epoch, json);
  json->Key("later_epoch");
  WriteRate(figures, loader.later_epoch, json);
  json->Key("of_loop");
  WriteSpread(loader.of_loop, json);
  json->Key("first_of_next");
  WriteSpread(loader.first_of_later, json);
  json->Key("first_of_next_memory_there");
  WriteSpread(loader.first_of_later_written, json);
  json->Key("first_epoch_nanoseconds");
  WriteTimes(loader.first_times, json);
  json->Key("nanoseconds");
  WriteTimes(loader.times, json);
  json->EndObject();
}

void WriteSet(const ReadFigures& figures, JsonWriter* json) {
  json->BeginObject();
  json->Key("set").String(figures.set);
  json->Key("fields").String(figures.fields);
  json->Key("records").Number(figures.records);
  json->Key("record_bytes").Number(figures.record_bytes);
  json->Key("batch").Number(figures.batch);
  json->Key("threads").Number(figures.threads);
  json->Key("checksums_off");
  WriteLoader(figures, figures.unchecked, json);
  json->Key("first_touch");
  WriteLoader(figures, figures.first_touch, json);
  json->Key("bare_loop");
  WriteRate(figures, figures.gather, json);
  json->Key("bare_loop_of_itself");
  WriteSpread(figures.gather_of_itself, json);
  json->Key("bare_loop_first");
  WriteRate(figures, figures.gather_first, json);
  json->Key("bare_loop_first_of_next");
  WriteSpread(figures.gather_first_of_later, json);
  json->Key("checked_loop_first");
  WriteRate(figures, figures.checked_first, json);
  json->Key("checked_loop_first_of_next");
  WriteSpread(figures.checked_first_of_later, json);
  json->Key("pread");
  WriteRate(figures, figures.pread, json);
  json->EndObject();
}

void WriteCold(const ColdFigures& figures, JsonWriter* json) {
  json->BeginObject();
  json->Key("set").String(figures.set);
  json->Key("fields").String(figures.fields);
  json->Key("threads").Number(figures.threads);
  json->Key("stored_bytes").Number(figures.stored_bytes);
  json->Key("records").Number(figures.records);
  json->Key("best_depth").Number(figures.best_depth);
  json->Key("bare_bytes_per_second").Number(figures.BytesPerSecond(figures.bare));
  json->Key("direct_bytes_per_second").Number(figures.BytesPerSecond(figures.direct));
  json->Key("mapped_bytes_per_second").Number(figures.BytesPerSecond(figures.mapped));
  json->Key("direct_of_bare");
  WriteSpread(figures.direct_of_bare, json);
  json->Key("direct_once_open_of_bare");
  WriteSpread(figures.direct_open_of_bare, json);
  json->Key("mapped_of_bare");
  WriteSpread(figures.mapped_of_bare, json);
  json->Key("bare_of_itself");
  WriteSpread(figures.bare_of_itself, json);
  json->EndObject();
}

void WriteOneHot(const OneHotFigures& figures, JsonWriter* json) {
  json->BeginObject();
  json->Key("stored").String(figures.label);
  json->Key("threads").Number(figures.threads);
  json->Key("record_bytes").Number(figures.output_bytes);
  json->Key("bytes_per_second").Number(figures.bytes_per_second);
  json->Key("memset_bytes_per_second").Number(figures.memset_bytes_per_second);
  json->Key("of_memset");
  WriteSpread(figures.of_memset, json);
  json->EndObject();
}

}  // namespace

std::string ReadReportJson(const ReadReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("cpus").Number(report.cpus);
  json.Key("rounds").Number(report.rounds);
  json.Key("memory").BeginArray();
  for (const MachineLimits& limits : report.limits) {
    json.BeginObject();
    json.Key("threads").Number(limits.threads);
    json.Key("memcpy_bytes_per_second").Number(limits.memory.copy_bytes_per_second);
    json.Key("memset_bytes_per_second").Number(limits.memory.set_bytes_per_second);
    json.EndObject();
  }
  json.EndArray();
  json.Key("sets").BeginArray();
  for (const ReadFigures& figures : report.sets) WriteSet(figures, &json);
  json.EndArray();
  json.Key("cold").BeginArray();
  for (const ColdFigures& figures : report.cold) WriteCold(figures, &json);
  json.EndArray();
  json.Key("one_hot_f32").BeginArray();
  for (const OneHotFigures& figures : report.one_hot) WriteOneHot(figures, &json);
  json.EndArray();
  json.Key("first_batch");
  if (report.first_batch.has_value()) {
    json.BeginObject();
    json.Key("records").Number(report.first_batch->records);
    json.Key("best_seconds").Number(report.first_batch->best_seconds);
    json.Key("median_seconds").Number(report.first_batch->median_seconds);
    json.EndObject();
  } else {
    json.Null();
  }
  json.EndObject();
  return json.Take();
}

}  // namespace shardmill
